import { expect, test } from 'vitest'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import type { TemplateEngine } from '../../../../src/ports/template-engine.ts'
import { type TestDeps, testDeps } from '../../../support/deps.ts'
import { fc, runs } from '../../../support/properties.ts'
import { recordingChannel } from '../../../support/recording-channel.ts'
import { settled } from '../../delivery/attempting.ts'
import { post } from '../dispatching.ts'

/** One field: how it ends, and after how many milliseconds. `undefined`: synchronously. */
interface Field {
  readonly ends: 'value' | 'throws' | 'no JSON' | 'missing data' | 'late'
  readonly afterMs: number | undefined
}

const field: fc.Arbitrary<Field> = fc.record({
  ends: fc.constantFrom('value', 'throws', 'no JSON', 'missing data', 'late'),
  afterMs: fc.option(fc.integer({ min: 0, max: 3_999 }), { nil: undefined }),
})
const channels = fc.array(fc.array(field, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 })

/** Runs an event dry whose fields end in this way, and lets 5 seconds pass. */
async function planned(all: readonly (readonly Field[])[]): Promise<readonly unknown[]> {
  const deps: TestDeps = testDeps(Object.fromEntries(all.map((_, at) => [`c${at}`, recordingChannel()])), {
    events: defineEvents({ e: { channels: definitions(all, () => deps) } }, { templates: engine(() => deps) }),
  })
  const answer = post(deps, { eventType: 'e', recipient: 'jane@example.com' }, {}, { dryRun: 'true' })
  await settled(deps.clock)
  for (let second = 0; second < 5; second++) {
    deps.clock.advance(1_000)
    await settled(deps.clock)
  }
  const { body } = await answer
  const lines = deps.logger.lines.filter(({ event }) => event === 'event.failed')
  return [body, lines.map(({ fields }) => [fields.channel, fields.field, fields.detail])]
}

type Deps = () => TestDeps

const after = <T>(ms: number, end: () => T, deps: Deps): Promise<T> =>
  new Promise<void>((resolve) => void deps().clock.after(ms, resolve)).then(end)

function definitions(all: readonly (readonly Field[])[], deps: Deps): Record<string, Record<string, never>> {
  const ends = {
    value: () => 'x',
    throws: () => Promise.reject(new Error('no')),
    'no JSON': () => undefined,
    late: () => new Promise(() => {}),
  }
  const define = ({ ends: how, afterMs }: Field, at: number, channel: number): unknown => {
    if (how === 'missing data') return `${channel}.${at} ${afterMs ?? ''}`
    return afterMs === undefined ? ends[how] : () => after<unknown>(afterMs, ends[how], deps)
  }
  const channelOf = (fields: readonly Field[], channel: number) =>
    Object.fromEntries(fields.map((one, at) => [`f${at}`, define(one, at, channel) as never]))
  return Object.fromEntries(all.map((fields, channel) => [`c${channel}`, channelOf(fields, channel)]))
}

/** Templates such as `0.1 250`: reads `data.0.1`, which is missing, after 250 ms. */
function engine(deps: Deps): TemplateEngine {
  return {
    compile(source) {
      const [path, ms] = source.split(' ')
      const missing = { outcome: 'missing', path: `data.${path}` } as const
      return () => (ms ? after(Number(ms), () => missing, deps) : missing)
    },
  }
}

test('Faults and missing data are reported in the order of the definitions, however late each field ends', async () => {
  let ordered = 0
  await fc.assert(
    fc.asyncProperty(channels, async (all) => {
      const atOnce = all.map((fields) => fields.map(({ ends }) => ({ ends, afterMs: undefined })))
      const planning = await planned(all)
      expect(planning).toEqual(await planned(atOnce))
      const faults = all.flatMap((fields, channel) =>
        fields.flatMap(({ ends }, at) => (ends === 'value' || ends === 'missing data' ? [] : [`c${channel}.f${at}`])),
      )
      const [, lines] = planning as [unknown, readonly string[][]]
      expect(lines.map(([channel, name]) => `${channel}.${name}`)).toEqual(faults)
      if (faults.length > 1) ordered++
    }),
    { numRuns: runs(400) },
  )
  expect(ordered).toBeGreaterThan(0)
})
