import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { isSallyportError } from '../../src/errors.ts'
import type { DispatchListOptions } from '../../src/services/dispatches.ts'
import { composed, took } from '../compose/composed.ts'
import { recordingChannel } from '../support/recording-channel.ts'

const JANE = 'jane@example.com'
const JOHN = 'john@example.com'
const START = Date.UTC(2026, 10, 21, 8)

const events = defineEvents({ x: { channels: { a: {} } }, y: { channels: { b: {} } } })

/**
 * Six dispatches, a second apart, of two events for two recipients in two sessions. The third and the sixth belong to
 * another tenant, and `y` fails.
 */
async function filled() {
  const channels = { a: recordingChannel(), b: recordingChannel([{ outcome: 'rejected', code: 'gone' }]) }
  const { sallyport, clock } = composed(events, { channels })
  const ids: string[] = []
  for (let at = 0; at < 6; at++) {
    const eventType = at % 2 ? 'y' : 'x'
    const recipient = at < 3 ? JANE : JOHN
    const sessionId = at % 3 === 1 ? 's1' : 's2'
    const event = { eventType, recipient, sessionId } as const
    ids.push(took(await sallyport.dispatch(event, at % 3 === 2 ? { tenant: 'acme' } : {})).dispatchId)
    if (at === 3) await sallyport.worker.runDue()
    clock.advance(1_000)
  }
  const list = async (options?: DispatchListOptions) =>
    (await sallyport.dispatches.list(options)).items.map(({ dispatchId }) => ids.indexOf(dispatchId))
  return { sallyport, list, ids }
}

describe('a list of dispatches', () => {
  it('dispatches.list gives the dispatches of one tenant, newest first', async () => {
    const { list } = await filled()
    expect(await list()).toEqual([4, 3, 1, 0])
    expect(await list({})).toEqual([4, 3, 1, 0])
    expect(await list({ tenant: 'acme' })).toEqual([5, 2])
    expect(await list({ tenant: 'nobody' })).toEqual([])
  })

  it.each<[string, DispatchListOptions, readonly number[]]>([
    ['session', { sessionId: 's1' }, [4, 1]],
    ['event', { eventType: 'x' }, [4, 0]],
    ['recipient', { recipient: JANE }, [1, 0]],
    ['status sent', { status: 'sent' }, [0]],
    ['status failed', { status: 'failed' }, [3, 1]],
    ['status queued', { status: 'queued' }, [4]],
    ['status partial', { status: 'partial' }, []],
    ['time since', { since: START + 1_000 }, [4, 3, 1]],
    ['time since, just after', { since: START + 1_001 }, [4, 3]],
    ['time until', { until: START + 1_000 }, [0]],
    ['time until, just after', { until: START + 1_001 }, [1, 0]],
    ['time since as a Date', { since: new Date(START + 3_000) }, [4, 3]],
    ['time until as a Date', { until: new Date(START + 3_000) }, [1, 0]],
    ['time from epoch', { since: 0, until: 0 }, []],
    ['unknown event', { eventType: 'z' }, []],
    ['recipient in part', { recipient: 'jane' }, []],
    ['session of another tenant', { tenant: 'acme', sessionId: 's1' }, []],
  ])('dispatches.list filters by %s', async (_, options, expected) => {
    expect(await (await filled()).list(options)).toEqual(expected)
  })

  it('dispatches.list combines all filters', async () => {
    const { list } = await filled()
    const all: Required<Omit<DispatchListOptions, 'cursor'>> = {
      tenant: 'default',
      sessionId: 's1',
      eventType: 'y',
      recipient: JANE,
      status: 'failed',
      channel: 'b',
      reason: 'provider_rejected',
      since: new Date(START + 1_000),
      until: START + 1_001,
      limit: 10,
    }
    expect(await list(all)).toEqual([1])
    const others: readonly Partial<DispatchListOptions>[] = [
      { tenant: 'acme' },
      { sessionId: 's2' },
      { eventType: 'x' },
      { recipient: JOHN },
      { status: 'sent' },
      { channel: 'fax' },
      { since: START + 1_001 },
      { until: START + 1_000 },
    ]
    for (const other of others) expect(await list({ ...all, ...other })).toEqual([])
  })

  it('dispatches.list refuses an unknown status instead of finding nothing', async () => {
    const { sallyport } = composed(events)
    const error = await sallyport.dispatches.list({ status: 'nope' as never }).catch((thrown: unknown) => thrown)
    expect(isSallyportError(error) && error.problems).toEqual([
      { field: 'status', detail: 'must be one of queued, sent, partial, failed, skipped, cancelled' },
    ])
  })

  it('dispatches.list ignores undefined options', async () => {
    const { list } = await filled()
    const names = ['tenant', 'sessionId', 'eventType', 'recipient', 'status', 'since', 'until', 'limit', 'cursor']
    const nothing: DispatchListOptions = Object.fromEntries(names.map((name) => [name, undefined]))
    expect(await list(nothing)).toEqual([4, 3, 1, 0])
  })

  it('dispatches.list pages without gaps and repetitions, with any filter', async () => {
    const { sallyport, list } = await filled()
    for (const options of [{}, { recipient: JOHN }, { status: 'failed' }, { since: START + 500 }] as const) {
      const whole = await list(options)
      const pages: string[][] = []
      let cursor: string | undefined
      do {
        const page = await sallyport.dispatches.list({ ...options, limit: 1, ...(cursor !== undefined && { cursor }) })
        pages.push(page.items.map(({ dispatchId }) => dispatchId))
        cursor = page.nextCursor
        // New dispatches are on no page: they are newer than the first page.
        await sallyport.dispatch({ eventType: 'x', recipient: JOHN })
      } while (cursor !== undefined && pages.length < 20)
      expect(pages.flat()).toHaveLength(whole.length)
      expect(new Set(pages.flat()).size).toBe(whole.length)
    }
  })

  it('dispatches.list shows each dispatch as dispatches.get does', async () => {
    const { sallyport, ids } = await filled()
    const [newest] = (await sallyport.dispatches.list({ status: 'failed' })).items
    expect(newest).toEqual(await sallyport.dispatches.get(ids[3] ?? ''))
    expect(newest).toMatchObject({ status: 'failed', deliveries: [{ lastCode: 'gone' }] })
  })

  it.each<[string, unknown]>([
    ['an invalid date', new Date('nonsense')],
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['a text', '2026-11-21T08:00:00Z'],
    ['an empty text', ''],
    ['null', null],
    ['true', true],
    ['an object', {}],
    ['a list', []],
  ])('dispatches.list refuses %s for since and until', async (_, time) => {
    const { sallyport } = composed(events)
    for (const name of ['since', 'until'] as const) {
      const error = await sallyport.dispatches.list({ [name]: time as number }).catch((thrown: unknown) => thrown)
      if (!isSallyportError(error)) throw new Error('was accepted')
      expect(error.code).toBe('option_invalid')
      expect(error.problems).toEqual([
        { field: name, detail: expect.stringContaining('must be a Date, or epoch milliseconds') },
      ])
    }
  })
})
