/** Shows the mail that the console sends. It is parsed, never run; what the policy would block anyway is removed. */
addEventListener('message', ({ source, data }) => {
  if (source !== parent || typeof data?.html !== 'string') return
  const mail = new DOMParser().parseFromString(data.html, 'text/html')
  for (const unsafe of mail.querySelectorAll('script, meta, base, link, iframe, object, embed, form')) unsafe.remove()
  for (const element of mail.querySelectorAll('*')) clean(element)
  document.head.replaceChildren(...mail.head.childNodes)
  document.body.replaceChildren(...mail.body.childNodes)
})

const LOADING = ['src', 'srcset', 'background', 'poster', 'data', 'xlink:href', 'href']

function clean(element: Element): void {
  for (const name of element.getAttributeNames()) {
    const value = element.getAttribute(name) ?? ''
    const isRemote = LOADING.includes(name) && !value.startsWith('data:image/')
    if (name.startsWith('on') || isRemote) element.removeAttribute(name)
    // A reader may want to know where a link leads; it opens nothing.
    if (name === 'href') element.setAttribute('title', value)
  }
}
