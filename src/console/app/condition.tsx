import type { ConditionTrace } from '../../model/dispatch.ts'
import { Scroll } from './parts.tsx'
import { linkTo } from './router.ts'

/** The trace of a condition, next to the data that it read. */
export function Condition({
  of,
  channel,
  eventType,
  isFalse,
}: {
  readonly of: readonly ConditionTrace[]
  readonly channel: string
  readonly eventType: string
  readonly isFalse: boolean
}) {
  const rules = of.filter(({ rule }) => rule !== 'function')
  if (rules.length === 0 && (of.length > 0 || isFalse))
    return (
      <p class="notice">
        The condition of {channel} is a function, so there is no trace of what it read. Try other data in a{' '}
        <a href={linkTo(['events', eventType])}>dry run of the event</a>, or write the condition as a JSON rule.
      </p>
    )
  if (rules.length === 0) return null
  return (
    <div class="condition">
      <Scroll label={`Condition of ${channel}`}>
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
              <tr key={`${rule} ${path} ${String(at)}`}>
                <td>
                  <code>{rule}</code>
                </td>
                <td>{path}</td>
                <td>{expected === undefined ? '' : <code>{JSON.stringify(expected)}</code>}</td>
                <td class={result ? 'good' : 'bad'}>{result ? 'true' : 'false'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <DataRead by={rules} />
    </div>
  )
}

function DataRead({ by }: { readonly by: readonly ConditionTrace[] }) {
  const values = new Map(by.flatMap(({ path, actual }) => (path === undefined ? [] : [[path, actual] as const])))
  if (values.size === 0) return null
  return (
    <div>
      <h3>Data that it read</h3>
      <dl class="data">
        {[...values].map(([path, actual]) => (
          <div key={path}>
            <dt>
              <code>{path}</code>
            </dt>
            <dd>{actual === undefined ? hiddenValue(path) : <code>{JSON.stringify(actual)}</code>}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}

/** Values of the host about a recipient are not recorded. */
function hiddenValue(path: string): string {
  return path.startsWith('data.') ? 'was not sent' : 'private to the host'
}
