import type { ConditionTrace } from '../../model/dispatch.ts'
import { Link, Scroll } from './parts.tsx'
import type { Redacted } from './redacted.ts'
import { joined, textOf } from './words.ts'

type Trace = Redacted<ConditionTrace>

/** The trace of a condition, next to the data that it read. */
export function Condition({
  of,
  channel,
  eventType,
  isFalse,
}: {
  readonly of: readonly Trace[]
  readonly channel: unknown
  readonly eventType: unknown
  readonly isFalse: boolean
}) {
  const rules = of.filter(({ rule }) => rule !== 'function')
  if (rules.length === 0 && (of.length > 0 || isFalse))
    return (
      <p class="notice">
        The condition of {textOf(channel)} is a function, so there is no trace of what it read. Try other data in a{' '}
        <Link to={['events', eventType]}>dry run of the event</Link>, or write the condition as a JSON rule.
      </p>
    )
  if (rules.length === 0) return null
  return (
    <div class="condition">
      <Scroll label={`Condition of ${textOf(channel)}`}>
        <table>
          <caption>Condition</caption>
          <thead>
            <tr>
              <th scope="col">Rule</th>
              <th scope="col">Value</th>
              <th scope="col">Expected</th>
              <th scope="col">Result</th>
            </tr>
          </thead>
          <tbody>
            {rules.map(({ rule, path, expected, result }, at) => (
              <tr key={joined(rule, path, at)}>
                <td>
                  <code>{textOf(rule)}</code>
                </td>
                <td>{textOf(path)}</td>
                <td>{expected === undefined ? '' : <code>{JSON.stringify(expected)}</code>}</td>
                <td class={result === true ? 'good' : result === false ? 'bad' : undefined}>{textOf(result)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <DataRead by={rules} />
    </div>
  )
}

function DataRead({ by }: { readonly by: readonly Trace[] }) {
  const values = new Map(by.flatMap(({ path, actual }) => (path === undefined ? [] : [[path, actual] as const])))
  if (values.size === 0) return null
  return (
    <div>
      <h3>Data that it read</h3>
      <dl class="data">
        {[...values].map(([path, actual]) => (
          <div key={textOf(path)}>
            <dt>
              <code>{textOf(path)}</code>
            </dt>
            <dd>{actual === undefined ? hiddenValue(path) : <code>{JSON.stringify(actual)}</code>}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}

/** Values of the host about a recipient are not recorded. */
function hiddenValue(path: unknown): string {
  return textOf(path).startsWith('data.') ? 'was not sent' : 'private to the host'
}
