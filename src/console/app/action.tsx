import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'

/**
 * A button that asks again before it acts, and says how it went. Escape is a no. The focus follows, and comes back; it also stays where the
 * button can do nothing more.
 */
export function Action({
  label,
  confirm,
  whyNot,
  run,
}: {
  readonly label: string
  readonly confirm: string
  /** Why it would do nothing. Default: it may act. */
  readonly whyNot?: string | undefined
  readonly run: () => Promise<string>
}) {
  const [isAsked, setAsked] = useState(false)
  const [said, setSaid] = useState('')
  const button = useRef<HTMLButtonElement>(null)
  const wasAsked = useRef(false)
  const id = useId()
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
        <button
          type="button"
          ref={button}
          aria-disabled={whyNot !== undefined}
          aria-describedby={whyNot && id}
          onClick={() => setAsked(whyNot === undefined)}
        >
          {label}
        </button>
        {whyNot && <small id={id}>{whyNot}</small>}
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
