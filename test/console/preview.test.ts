import type { Browser, FrameLocator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mailText } from '../../src/console/app/mail-text.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { serviceOrSkip } from '../queues/services.ts'
import { openBrowser, openPage } from './browser.ts'
import { openConsole, type RunningConsole } from './console-server.ts'
import { filledSallyport, MAIL } from './filled.ts'

const withBrowser = await serviceOrSkip('chromium')

/** The largest mail that a dispatch can have. */
const SIZE = 262_144

describe('the text of a mail', () => {
  it.each([
    ['1 < 2 && 3 > 2 onclick="x"', '1 &lt; 2 && 3 > 2 onclick="x"'],
    ['<p onclick="a">on time</p>', '<p>on time</p>'],
    ['<p ONCLICK=a class=b/onload=c>x', '<p class="b/onload=c">x'],
    ["<p class='a\"b<c' class=d>x", '<p class="a&quot;b&lt;c">x'],
    ['<p a"b onclick=">">x', '<p>x'],
    ['<p/onclick=a /class = "b">x', '<p class="b">x'],
    ['a<!-- <p onclick=x> -->b<!-->c<!--->d<![if x]>e<?x?>f</ >g', 'abcdefg'],
    ['<script>"<p>"</script >a<title><p></title>b', 'ab'],
    ['<style>p { color: red } </p></style>a', '<style>p { color: red } \\3c /p></style>a'],
    ['<svg><style><img onerror=x></style><title>a</title>b</svg>', '<style>\\3c img onerror=x></style>b'],
    ['<a href="https://x.invalid/?a&amp;b">x</a>', '<a title="https://x.invalid/?a&amp;b">x</a>'],
    ["<img src=x alt='\"'><video src=y>z</video>", '<img alt="&quot;" src="x"><img alt="video" src="">z'],
    ['<o:p>a</o:p><form><button>b</button></form>', 'a<button>b</button>'],
    ['<p class="a', '<p class="a">'],
  ])('%j becomes %j', (html, expected) => {
    expect(mailText(html)).toBe(expected)
  })

  it.each([
    '<a ',
    '<',
    '<a "',
    '<!--',
    '<style>',
    '<b a=',
    '</',
    '<a/',
    "<a b='",
    '<script></script',
    ' on',
    '<p class ',
  ])('A mail full of %j takes linear time', (part) => {
    expect(mailText(part.repeat((SIZE * 8) / part.length)).length).toBeLessThan(SIZE * 64)
  })
})

withBrowser('the preview of a mail', () => {
  let browser: Browser
  let host: RunningConsole
  beforeAll(async () => {
    browser = await openBrowser()
    host = await openConsole(await filledSallyport(memoryStore()))
  })
  afterAll(async () => {
    await host.close()
    await browser.close()
  })

  /** Shows a mail as the console does, and gives what the browser complained of and asked for. */
  async function shown(html: string, look: (mail: FrameLocator) => Promise<void>): Promise<readonly string[]> {
    const { page, complaints } = await openPage(browser)
    await page.goto(`${host.url}nowhere`)
    page.on('request', (request) => {
      if (!request.url().startsWith(host.url) && !request.url().startsWith('data:')) complaints.push(request.url())
    })
    await page.evaluate((html) => {
      const { document } = globalThis as never as {
        document: { createElement(name: string): Frame; body: { replaceChildren(frame: Frame): void } }
      }
      interface Frame {
        src: string
        onload(): void
        setAttribute(name: string, value: string): void
        readonly contentWindow: { postMessage(message: object, origin: string): void }
      }
      const frame = document.createElement('iframe')
      frame.setAttribute('sandbox', 'allow-scripts')
      frame.src = 'preview'
      frame.onload = () => frame.contentWindow.postMessage({ html }, '*')
      document.body.replaceChildren(frame)
    }, html)
    await look(page.frameLocator('iframe'))
    expect(await page.evaluate(() => Reflect.get(globalThis, 'ran'))).toBeUndefined()
    await page.close()
    return complaints
  }

  it('A hostile mail runs, loads and follows nothing, and the browser complains of nothing', async () => {
    const complaints = await shown(MAIL, async (mail) => {
      await mail.getByText('On its way').click()
      await mail.getByText('Track your order').click()
      await mail.getByRole('button', { name: 'Send' }).click()
    })
    expect(complaints).toEqual([])
  })

  it.each([
    ['an attribute', (css: string) => `<p id="end" style='${css}'>End</p>`],
    ['a sheet', (css: string) => `<style>p { ${css} }</style><p id="end">End</p>`],
    ['a sheet in a group', (css: string) => `<style>@media all { p { ${css} } }</style><p id="end">End</p>`],
  ])('A shorthand that loads through a variable is removed from %s, and what is beside it stays', async (_, markup) => {
    for (const shorthand of [
      'background: image-set(var(--a) 1x)',
      'background: var(--b, red) image-set(var(--a) 1x) !important',
      'border-image: image-set(var(--a) 1x) 30',
      'list-style: cross-fade(image-set(var(--a) 1x), red)',
      'mask: image-set(var(--a) 1x)',
      'background: var(--c) image-set(var(--a) 1x)',
      'background: image-set(var(--a) 1x); background-color: red',
      '-webkit-mask: image-set(var(--a) 1x)',
    ]) {
      const css = `--a: "https://sender.invalid/q"; --c: 1px; color: green; margin: var(--c); ${shorthand}`
      const complaints = await shown(markup(css), async (mail) => {
        const end = mail.locator('#end')
        await end.waitFor()
        const style = await end.evaluate((element) => {
          const { color, marginTop } = Reflect.get(globalThis, 'getComputedStyle')(element)
          return { color, marginTop }
        })
        expect(style).toEqual({ color: 'rgb(0, 128, 0)', marginTop: '1px' })
      })
      expect([shorthand, complaints]).toEqual([shorthand, []])
    }
  })

  it('Text and colours stay, and words stand for what is not loaded', async () => {
    await shown(MAIL, async (mail) => {
      const text = mail.locator('#shipped')
      await text.waitFor()
      const style = await text.evaluate((element) => {
        const { color, fontWeight, backgroundImage } = Reflect.get(globalThis, 'getComputedStyle')(element)
        return { color, fontWeight, backgroundImage }
      })
      expect(style).toEqual({ color: 'rgb(0, 128, 0)', fontWeight: '700', backgroundImage: 'none' })
      await mail.getByText('Our logo (not loaded)').waitFor()
      await mail.getByText('video (not loaded)').waitFor()
      expect(await mail.getByRole('img', { name: 'dot' }).count()).toBe(1)
      expect(await mail.getByText('Track your order').getAttribute('title')).toBe('https://sender.invalid/y')
    })
  })

  it.each([
    ['handlers', '<b onclick=x>'],
    ['images', '<img src=https://sender.invalid/a>'],
    ['attributes', 'a ', '<p '],
    ['styles', '<style>p{background:url(//sender.invalid)}</style>'],
    ['declarations', '--a:url(x);', '<style>p{'],
    ['imports', '@import "//sender.invalid";', '<style>'],
    ['forms', '<form><input>'],
  ])('A mail of 256 KiB full of %s is shown', async (_, part, start = '') => {
    const end = `${start.startsWith('<style') ? '}</style>' : '>'}<p id="end">End</p>`
    const html = start + part.repeat((SIZE - start.length - end.length) / part.length) + end
    expect(await shown(html, (mail) => mail.locator('#end').waitFor())).toEqual([])
  })
})
