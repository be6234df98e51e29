// Draws the mermaid blocks of a page in the theme that is shown. The library is an asset of this site; only pages with a diagram load it.
const diagrams = [...document.querySelectorAll('code.mermaid')].map((code) => ({
  source: code.textContent,
  block: code.closest('pre'),
  drawing: undefined,
}))

function isDark() {
  const { theme } = document.documentElement.dataset
  return theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
}

async function draw() {
  globalThis.mermaid.initialize({ startOnLoad: false, theme: isDark() ? 'dark' : 'neutral', fontFamily: 'inherit' })
  for (const [index, diagram] of diagrams.entries()) {
    const { svg } = await globalThis.mermaid.render(`diagram-${index}`, diagram.source)
    const drawing = document.createElement('div')
    drawing.className = 'diagram'
    drawing.innerHTML = svg
    // On a narrow screen it scrolls before its texts get too small.
    const [picture] = drawing.children
    picture.style.minWidth = `min(${picture.style.maxWidth}, 36rem)`
    ;(diagram.drawing ?? diagram.block).replaceWith(drawing)
    diagram.drawing = drawing
  }
}

/** Resolves once the body is shown: before that, nothing in it can be measured. */
function bodyShown() {
  return new Promise((resolve) => {
    const look = () => document.body.style.display !== 'none' && resolve()
    new MutationObserver(look).observe(document.body, { attributeFilter: ['style'] })
    look()
  })
}

// A theme that the reader chose holds for pictures, too.
const sources = [...document.querySelectorAll('picture source')].map((source) => ({ source, media: source.media }))

function choosePictures() {
  const { theme } = document.documentElement.dataset
  for (const { source, media } of sources) {
    const scheme = /(?: and )?\(prefers-color-scheme: dark\)/
    const isForDark = scheme.test(media)
    const always = media.replace(scheme, '') || 'all'
    source.media = !isForDark || theme === 'os' ? media : theme === 'dark' ? always : 'not all'
  }
}

if (sources.length > 0) {
  new MutationObserver(choosePictures).observe(document.documentElement, { attributeFilter: ['data-theme'] })
  choosePictures()
}

if (diagrams.length > 0) {
  const script = document.createElement('script')
  script.src = new URL('assets/mermaid.js', new URL(document.documentElement.dataset.base, location.href)).href
  script.addEventListener('load', () => {
    let drawn = bodyShown()
    const drawNext = () => {
      drawn = drawn.then(draw)
    }
    new MutationObserver(drawNext).observe(document.documentElement, { attributeFilter: ['data-theme'] })
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawNext)
    drawNext()
  })
  document.head.append(script)
}
