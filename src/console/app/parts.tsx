import type { ComponentChildren } from 'preact'
import type { Problem } from './api.ts'
import type { Loaded } from './reading.ts'
import { linkTo } from './router.ts'
import { nextStep } from './sentences/problem.ts'
import type { Sentence } from './sentences/sentence.ts'
import { instantOf, textOf } from './words.ts'

/** Shows what was loaded, or a problem, or that it is loading. Earlier data stay visible while the server fails. */
export function Shown<T>({
  of: { data, problem, isLoading },
  children,
}: {
  readonly of: Loaded<T>
  readonly children: (data: T) => ComponentChildren
}) {
  const isWaiting = isLoading || (data === undefined && !problem)
  return (
    <div class="shown" aria-busy={isWaiting}>
      {problem && <Failure of={problem} />}
      {data !== undefined ? children(data) : !problem && <p class="state">Loading …</p>}
    </div>
  )
}

/** A problem in a sentence, with the next step. */
export function Failure({ of }: { readonly of: Problem }) {
  const { detail, errors = [], isSignedOut } = of
  return (
    <div class="failure" role="alert">
      <p>
        <Explained of={{ means: detail, next: nextStep(of) }} />
      </p>
      {errors.map(({ pointer, detail }) => (
        <p key={pointer}>
          <code>{pointer.slice(1) || 'the request'}</code> {detail}
        </p>
      ))}
      {isSignedOut && (
        <p>
          Sign in again, then{' '}
          <button type="button" onClick={() => location.reload()}>
            Reload
          </button>
        </p>
      )}
    </div>
  )
}

/** A list or a screen without anything to show: what it would have, and how to get it. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="state">{children}</p>
}

/** Meaning of a value, and the next step. */
export function Explained({ of: { means, next } }: { readonly of: Sentence }) {
  return (
    <span class="explained">
      {means} <span class="next">{next}</span>
    </span>
  )
}

export function Badge({ children }: { readonly children: unknown }) {
  return <span class={`badge ${toneOf(children)}`}>{textOf(children).replaceAll('_', ' ')}</span>
}

export type Tone = 'good' | 'bad' | 'going' | 'plain'

/** Tone of a status, an outcome or a level. */
export function toneOf(word: unknown): Tone {
  return TONES.get(word) ?? 'plain'
}

const TONES: ReadonlyMap<unknown, Tone> = new Map([
  ...['sent', 'completed', 'accepted', 'delivered', 'within'].map((word) => [word, 'good'] as const),
  ...[
    ...['failed', 'expired', 'partial', 'rejected', 'refused', 'hard', 'bounced', 'complained', 'incomplete', 'lost'],
    'declined',
  ].map((word) => [word, 'bad'] as const),
  ...['queued', 'sending', 'held', 'running', 'waiting', 'retry', 'unknown', 'soft', 'delayed', 'open'].map(
    (word) => [word, 'going'] as const,
  ),
])

/** Zone of all times, of the browser. */
export const ZONE: string = Intl.DateTimeFormat().resolvedOptions().timeZone

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** An instant with its date, in the zone that the head of the page names; its title has the exact one. */
export function Time({ at }: { readonly at: unknown }) {
  const instant = instantOf(at)
  if (instant === undefined) return <>{textOf(at)}</>
  return (
    <time dateTime={textOf(at)} title={textOf(at)}>
      {TIME.format(instant)}
    </time>
  )
}

/** A link within the console. Without one to go to, because an id is hidden, only its text. */
export function Link({
  to,
  query = {},
  class: name,
  children,
}: {
  readonly to: readonly unknown[]
  readonly query?: Readonly<Record<string, unknown>>
  readonly class?: string
  /** Default: the last part of `to`. */
  readonly children?: unknown
}) {
  const text = textOf(children === undefined ? to.at(-1) : children)
  if ([...to, ...Object.values(query)].some((part) => part === null || part === '')) return <>{text}</>
  const texts = Object.entries(query).map(([name, value]) => [name, textOf(value)])
  return (
    <a class={name} href={linkTo(to.map(textOf), Object.fromEntries(texts))}>
      {text}
    </a>
  )
}

/** Names and values; empty values are left out. */
export function Facts({ of }: { readonly of: Readonly<Record<string, ComponentChildren>> }) {
  const known = Object.entries(of).filter(([, value]) => value !== undefined && value !== '' && value !== false)
  return (
    <dl class="facts">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** JSON as text. */
export function Json({ of, label }: { readonly of: unknown; readonly label: string }) {
  return (
    <Scroll label={label}>
      <pre>{JSON.stringify(of, null, 2)}</pre>
    </Scroll>
  )
}

/** Wide content, which a keyboard can reach and scroll. */
export function Scroll({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="scroll" tabIndex={0} aria-label={label}>
      {children}
    </section>
  )
}
