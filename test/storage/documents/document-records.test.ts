import { describe, expect, it } from 'vitest'
import { documentRecords } from '../../../src/storage/documents/document-records.ts'
import type { Prefix, Records, Scan } from '../../../src/storage/engine/records.ts'
import { change, digest, harness, run, sums } from './records-harness.ts'
import type { Row } from './records-model.ts'

describe('records in documents', () => {
  it('are a document each, and one in each of their indexes', async () => {
    const { texts, records } = harness()
    await records.commit([change('insert', 'runs', run('R', { user_id: 'Jane', open_since: 5 }))])
    expect([...texts.keys()].sort()).toEqual([
      'runs.by_session/t/s/0000000000000005/0000000000000000/_r',
      'runs.by_status/t/running/0000000000000005/0000000000000000/_r.-s',
      'runs.by_time/t/0000000000000005/0000000000000000/_r.-s',
      'runs.by_user/t/_jane/0000000000000005/0000000000000000/_r.-s',
      'runs.open/0000000000000005/0000000000000000/_r.-s.-t',
      'runs/_r/s/t',
    ])
    expect(texts.get('runs.open/0000000000000005/0000000000000000/_r.-s.-t')).toBe('[5,0,"R","s","t"]')
  })

  it('follow a column to the records above, and to those of other kinds with their keys', async () => {
    const { records } = harness()
    const chain = [
      run('a', { parent_run_id: 'b' }),
      run('b', { parent_run_id: 'c' }),
      run('d', { parent_run_id: 'e', top: 1 }),
    ]
    await records.commit([
      change('insert', 'runs', ...chain, run('e')),
      change('insert', 'run_sums', sums('c'), sums('b'), sums('x')),
    ])
    const follow = { column: 'parent_run_id', unless: 'top', depth: 9, also: ['run_sums'] } as const
    const read = async (runId: string, depth: number): Promise<readonly string[]> => {
      const found = await records.read([{ kind: 'runs', with: [[runId, 's', 't']], follow: { ...follow, depth } }])
      return [...(found.runs ?? []), ...(found.run_sums ?? [])].map(({ run_id }) => run_id)
    }
    expect(await read('a', 9)).toEqual(['a', 'b', 'b', 'c'])
    expect(await read('a', 1)).toEqual(['a', 'b', 'b'])
    expect(await read('d', 9)).toEqual(['d'])
  })

  it('follow a circle once', async () => {
    const { records, calls } = harness()
    await records.commit([change('insert', 'runs', run('a', { parent_run_id: 'b' }), run('b', { parent_run_id: 'a' }))])
    const follow = { column: 'parent_run_id', unless: 'top', depth: Number.POSITIVE_INFINITY, also: [] } as const
    const { runs: found } = await records.read([{ kind: 'runs', with: [['a', 's', 't']], follow }])
    expect([found?.map(({ run_id }) => run_id), calls.get]).toEqual([['a', 'b'], 2])
  })

  it.each([
    [
      'keys',
      [
        {
          kind: 'run_sums',
          with: [
            ['t', 's', 'a'],
            ['t', 's', 'b'],
          ],
        },
      ],
    ],
    [
      'a prefix and a key',
      [
        {
          kind: 'run_sums',
          with: [
            ['t', 's'],
            ['t', 's', 'a'],
          ],
        },
      ],
    ],
    ['prefixes', [{ kind: 'run_sums', with: [['t', 's'], ['u']] }]],
    [
      'an index',
      [
        { kind: 'run_sums', with: [['t', 's', 'a']] },
        { kind: 'digests', index: 'open', with: [['k']] },
      ],
    ],
  ] as const)('are read by %s as they were at one moment', async (_, wanted) => {
    const { records, documents } = harness()
    const start = [sums('a', { totals: { n: 0 } }), sums('b', { totals: { n: 0 } })]
    await records.commit([change('insert', 'run_sums', ...start), change('insert', 'digests', digest('0'))])
    let n = 0
    const other = documentRecords(documents)
    /** Changes all records after each of the first ten calls. */
    async function interrupted<T>(result: Promise<T>): Promise<T> {
      const given = await result
      if (n >= 10) return given
      const updated = ['a', 'b'].map((id) => sums(id, { totals: { n: n + 1 }, version: n + 1 }))
      const closed = change('update', 'digests', digest(`${n}`, { open_key: null }))
      const opened = change('insert', 'digests', digest(`${++n}`))
      expect(await other.commit([change('update', 'run_sums', ...updated), closed, opened])).toBe(true)
      return given
    }
    let calls = Promise.resolve<unknown>(undefined)
    const oneByOne = <T>(call: () => Promise<T>): Promise<T> => {
      const result = calls.then(() => interrupted(call()))
      calls = result
      return result
    }
    const reader = documentRecords({
      ...documents,
      get: (key) => oneByOne(() => documents.get(key)),
      list: (prefix, range) => oneByOne(() => documents.list(prefix, range)),
    })
    const { run_sums: found = [], digests = [] } = await reader.read(wanted)
    expect(new Set([...found.map(amount), ...digests.map(({ delivery_id }) => Number(delivery_id))]).size).toBe(1)
    expect(n).toBe(10)
  })

  it('that are compared keep their texts, whoever wrote them', async () => {
    const { records, texts } = harness()
    const text = '{ "version":1, "later":2, "tenant":"t", "session_id":"s", "run_id":"a", "totals":{} }'
    texts.set('run_sums/t/s/a', text)
    expect(await records.commit([change('compare', 'run_sums', sums('a'))])).toBe(true)
    expect(texts.get('run_sums/t/s/a')).toBe(text)
  })

  it('cost a scan one list and a get each', async () => {
    const { records, calls } = harness()
    const rows = Array.from({ length: 60 }, (_, nth) =>
      run('r', { session_id: `s${nth}`, created_at: nth, tie_breaker: nth }),
    )
    await records.commit([change('insert', 'runs', ...rows)])
    const scan = { kind: 'runs', index: 'by_time', with: [['t']], limit: 5 } as const
    for (const [part, first] of [
      [{ from: [20] }, 20],
      [{ after: [20] }, 21],
      [{ from: [7], after: [20, 20] }, 21],
      [{ from: [20], after: [7, 7] }, 20],
      [{ from: [0], after: [20, 20, 'r', 's20', 't'] }, 21],
      [{ until: [20], isReverse: true }, 19],
      [{ until: [40], after: [20], isReverse: true }, 19],
      [{ until: [20], after: [40], isReverse: true }, 19],
    ] as const) {
      Object.assign(calls, { get: 0, list: 0, listed: 0 })
      const { found } = await records.scan({ ...scan, ...part })
      expect([found[0]?.at[0], calls]).toEqual([first, { get: 5, list: 1, listed: 6, commit: 1 }])
    }
  })

  it('are changed by one of two concurrent commits of one version', async () => {
    const { records, documents } = harness()
    const other = documentRecords(documents)
    await records.commit([change('insert', 'run_sums', sums('a'), sums('b'))])
    const pairs = [
      [change('update', 'run_sums', sums('a')), change('update', 'run_sums', sums('a'))],
      [change('compare', 'run_sums', sums('b')), change('remove', 'run_sums', sums('b'))],
      [change('insert', 'run_sums', sums('c')), change('insert', 'run_sums', sums('c'))],
    ] as const
    const isChange = await Promise.all(
      pairs.map(([one, two]) => Promise.all([records.commit([one]), other.commit([two])])),
    )
    expect(isChange.map((both) => both.filter(Boolean).length)).toEqual([1, 2, 1])
  })

  it('are not read again by a commit that follows a read', async () => {
    const { records, calls } = harness()
    await records.commit([change('insert', 'run_sums', sums('a'))])
    expect(await records.commit([change('update', 'run_sums', sums('a'))])).toBe(true)
    expect(await records.commit([change('compare', 'run_sums', sums('a', { version: 2 }))])).toBe(true)
    expect(calls.get).toBe(0)
    expect(await records.commit([change('remove', 'run_sums', sums('a', { version: 7 }))])).toBe(false)
    expect(calls).toEqual({ get: 1, list: 0, listed: 0, commit: 3 })
  })

  it('have forgotten texts after a conflict', async () => {
    const { records, documents } = harness()
    const other = documentRecords(documents)
    await records.commit([change('insert', 'run_sums', sums('a'))])
    await other.commit([
      change('remove', 'run_sums', sums('a')),
      change('insert', 'run_sums', sums('a', { totals: { runs: 2 } })),
    ])
    expect(await records.commit([change('update', 'run_sums', sums('a'))])).toBe(false)
    expect(await records.commit([change('update', 'run_sums', sums('a'))])).toBe(true)
  })

  it('are read at most 25 at once', async () => {
    const { documents } = harness()
    let reading = 0
    let most = 0
    const records = documentRecords({
      ...documents,
      async get(key) {
        most = Math.max(most, ++reading)
        return documents.get(key).finally(() => reading--)
      },
    })
    const ids = Array.from({ length: 60 }, (_, nth) => `r${nth}`)
    await records.commit([change('insert', 'runs', ...ids.map((id) => run(id)))])
    const found = await records.read([{ kind: 'runs', with: ids.map((id) => [id, 's', 't']) }])
    const scanned = await records.scan({ kind: 'runs', index: 'by_time', with: [['t']], limit: 60 })
    expect([found.runs?.length, scanned.found.length, most]).toEqual([60, 60, 25])
  })

  it('are listed in pages of more documents than one list gives', async () => {
    const { records } = harness()
    const ids = Array.from({ length: 1_200 }, (_, nth) => `r${String(nth).padStart(4, '0')}`)
    await records.commit([change('insert', 'run_sums', ...ids.map((id) => sums(id)))])
    const { run_sums: found = [] } = await records.read([{ kind: 'run_sums', with: [['t', 's']] }])
    expect(found.map(({ run_id }) => run_id)).toEqual(ids)
    const last = { kind: 'run_sums', with: [['t']], where: [{ column: 'run_id', in: ['r1199'] }], limit: 1 } as const
    expect(await records.scan(last)).toMatchObject({ found: [{ at: ['s', 'r1199', 't'] }] })
    expect(await records.scan({ ...last, most: 700 })).toEqual({ found: [], last: ['s', 'r0699', 't'] })
  })

  it.each([
    ['marks', ['a', 'a-b', 'a.b', 'a-', 'ab', '-', 'A']],
    ['long texts', ['x'.repeat(300), 'x'.repeat(301), `${'x'.repeat(299)}y`, 'Ω'.repeat(90)]],
  ])('come once each in pages by names of %s', async (_, names) => {
    for (const [kind, index, rows] of [
      ['run_sums', undefined, names.map((name) => sums(name))],
      ['runs', 'open', names.map((name) => run('r', { session_id: name, tenant: name, open_since: 1 }))],
      ['runs', 'open', names.map((name) => run(name, { open_since: 1 }))],
    ] as const) {
      const { records } = harness()
      await records.commit([change('insert', kind, ...rows)])
      const scan: Scan = { kind, with: [[]], limit: 2, ...(index && { index }) }
      const forward = await pagesOf(records, scan)
      expect(new Set(forward).size).toBe(names.length)
      expect((await pagesOf(records, { ...scan, isReverse: true })).toReversed()).toEqual(forward)
    }
  })

  it('that left an index meanwhile are not scanned', async () => {
    const { records, documents, texts } = harness()
    await records.commit([change('insert', 'digests', digest('a'), digest('b'), digest('c'))])
    const late = documentRecords({
      ...documents,
      async list(prefix, range) {
        const listed = await documents.list(prefix, range)
        await records.commit([
          change('update', 'digests', digest('a', { open_key: null })),
          change('remove', 'digests', digest('b')),
        ])
        return listed
      },
    })
    const { found } = await late.scan({ kind: 'digests', index: 'open', with: [['k']], limit: 9 })
    expect(found.map(({ record }) => record.delivery_id)).toEqual(['c'])
    expect(texts.size).toBe(3)
  })

  it('of damaged documents are an error', async () => {
    const { records, texts } = harness()
    await records.commit([change('insert', 'run_sums', sums('a'))])
    texts.set('run_sums/t/s/a', '{')
    await expect(records.read([{ kind: 'run_sums', with: [['t', 's', 'a']] }])).rejects.toThrow(SyntaxError)
    await expect(records.scan({ kind: 'run_sums', with: [['t']], limit: 1 })).rejects.toThrow(SyntaxError)
  })

  it('reject a position within the part of the record key', async () => {
    const scan = harness().records.scan({ kind: 'runs', index: 'open', with: [[]], after: [1, 2, 'r'], limit: 1 })
    await expect(scan).rejects.toThrow('runs.open')
  })

  it('know the time of a database with a fractional clock between two milliseconds', async () => {
    const { documents } = harness()
    expect(await documentRecords({ ...documents, now: () => 5.5 }).now()).toEqual({ earliest: 5, latest: 6 })
    expect(await documentRecords({ ...documents, now: () => 5 }).now()).toEqual({ earliest: 5, latest: 5 })
  })
})

/** Positions of all records, read in pages. */
async function pagesOf(records: Records, scan: Scan): Promise<readonly string[]> {
  const positions: string[] = []
  let after: Prefix | undefined
  do {
    const { found, last } = await records.scan({ ...scan, ...(after && { after }) })
    positions.push(...found.map(({ at }) => JSON.stringify(at)))
    after = last
  } while (after)
  return positions
}

function amount({ totals }: Row): number {
  return (totals as { n: number }).n
}
