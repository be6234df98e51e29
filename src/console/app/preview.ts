import { mailText } from './mail-text.ts'

/** Shows the mail that the console sends. It is parsed, never run; what the policy would block is removed before it is shown. */
addEventListener('message', ({ source, data }) => {
  if (source !== parent || typeof data?.html !== 'string') return
  const mail = new DOMParser().parseFromString(mailText(data.html), 'text/html')
  for (const image of mail.querySelectorAll('img')) if (!isInline(image.src)) image.replaceWith(noteOf(image))
  for (const { style } of mail.querySelectorAll<HTMLElement>('[style]')) clean(style)
  for (const sheet of mail.querySelectorAll('style')) sheet.textContent = cleanText(sheet.sheet)
  document.replaceChild(document.adoptNode(mail.documentElement), document.documentElement)
})

function isInline(url: string): boolean {
  return url.startsWith('data:image/')
}

/** Words in place of an image: they show that there was one, also one that only tracks readers. */
function noteOf({ alt, ownerDocument }: HTMLImageElement): HTMLElement {
  const note = ownerDocument.createElement('span')
  note.className = 'not-loaded'
  note.textContent = `${alt} (not loaded)`
  note.style.cssText = 'border: 1px dashed; padding: 0 0.3em; font: 0.8rem sans-serif; opacity: 0.8'
  return note
}

/** CSS that would load something. A backslash can spell `url` in another way. */
const LOADS = /(?:url|src|image|image-set|cross-fade)\(|@property/i

function isLoading(css: string): boolean {
  return LOADS.test(css.replace(/url\("data:image\/[^"]*"\)/g, ''))
}

/** Removes what would load something. A style that was parsed has its names spelled out, apart from values with variables. */
function clean(style: CSSStyleDeclaration): void {
  for (const name of [...style]) {
    const value = cssValue(style, name)
    if (value === '' || value.includes('\\') || isLoading(value)) style.removeProperty(name)
  }
}

/** Value of a property. With a variable in its shorthand it has none of its own: then that of `background` for `background-image`. */
function cssValue(style: CSSStyleDeclaration, name: string): string {
  const own = style.getPropertyValue(name)
  const end = name.lastIndexOf('-')
  return own !== '' || end <= 0 ? own : cssValue(style, name.slice(0, end))
}

function cleanText(sheet: CSSStyleSheet | null): string {
  if (!sheet) return ''
  cleanRules(sheet.cssRules)
  const texts = [...sheet.cssRules].map(({ cssText }) => cssText)
  return texts.filter((text) => !isLoading(text)).join('\n')
}

function cleanRules(rules: CSSRuleList): void {
  for (const rule of rules) {
    if ('style' in rule && rule.style instanceof CSSStyleDeclaration) clean(rule.style)
    if ('cssRules' in rule && rule.cssRules instanceof CSSRuleList) cleanRules(rule.cssRules)
  }
}
