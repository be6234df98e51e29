import { useRef } from 'preact/hooks'
import { base } from './host.ts'
import { Json, Scroll } from './parts.tsx'
import { textOf } from './words.ts'

type Content = Readonly<Record<string, unknown>>

/** Rendered fields of a message. HTML is shown in a frame that runs nothing. */
export function Mail({ content, label }: { readonly content: Content; readonly label: string }) {
  const { html, subject, text, ...others } = content
  return (
    <div class="mail">
      {subject !== undefined && (
        <p>
          <strong>{textOf(subject)}</strong>
        </p>
      )}
      {html !== undefined && <Preview html={textOf(html)} label={label} />}
      {text !== undefined && (
        <Scroll label={`Text of ${label}`}>
          <pre class="text">{textOf(text)}</pre>
        </Scroll>
      )}
      {Object.keys(others).length > 0 && <Json of={others} label={`Other fields of ${label}`} />}
    </div>
  )
}

function Preview({ html, label }: { readonly html: string; readonly label: string }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const show = (): void => frame.current?.contentWindow?.postMessage({ html }, '*')
  return (
    <iframe
      key={html}
      ref={frame}
      class="preview"
      title={`Preview of ${label}`}
      sandbox="allow-scripts"
      src={`${base}preview`}
      onLoad={show}
    />
  )
}
