import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** A button that asks again before it acts, and says how it went. Escape is a no. The focus follows, and comes back. */
export function Action({
  label,
  confirm,
  run,
}: {
  readonly label: string
  readonly confirm: string
  readonly run: () => Promise<string>
}) {
  const [isAsked, setAsked] = useState(false)
  const [said, setSaid] = useState('')
  const button = useRef<HTMLButtonElement>(null)
  const wasAsked = useRef(false)
  useLayoutEffect(() => {
    if (isAsked || wasAsked.current) button.current?.focus()
    wasAsked.current = isAsked
  }, [isAsked])
  const act = async (): Promise<void> => {
    setAsked(false)
    setSaid('…')
    setSaid(await run())
  }
  if (!isAsked)
    return (
      <span class="action">
        <button type="button" ref={button} onClick={() => setAsked(true)}>
          {label}
        </button>
        <span role="status">{said}</span>
      </span>
    )
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be a form control of its own.
    <span
      class="action asked"
      role="group"
      aria-label={confirm}
      onKeyDown={({ key }) => key === 'Escape' && setAsked(false)}
    >
      {confirm}{' '}
      <button type="button" class="sure" ref={button} onClick={act}>
        Yes, {label.toLowerCase()}
      </button>{' '}
      <button type="button" onClick={() => setAsked(false)}>
        No
      </button>
    </span>
  )
}
