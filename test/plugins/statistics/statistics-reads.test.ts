import { describe, expect, it } from 'vitest'
import { statisticsCounter } from '../../../src/plugins/statistics/counter.ts'
import { heartbeatRecords } from '../../../src/plugins/statistics/heartbeat-records.ts'
import { statisticsOf } from '../../../src/plugins/statistics/read-statistics.ts'
import { type StatisticsRecords, statisticsRecords } from '../../../src/plugins/statistics/statistics-records.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { countingIds, recordingLogger } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { reportTo } from '../../support/plugin-core.ts'

function reading() {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  const records = statisticsRecords(store)
  const logger = recordingLogger()
  const counter = statisticsCounter({ records, clock, ids: countingIds(), logger, report: reportTo({ logger, clock }) })
  const accept = (): void => counter.measure({ of: 'accepted', tenant: 'default', eventType: 'e' })
  const accepted = async (given: Pick<StatisticsRecords, 'list'> = records): Promise<number> => {
    const { buckets } = await statisticsOf({ records: given, workers: heartbeatRecords(store), clock, counter })()
    return buckets.reduce((sum, bucket) => sum + bucket.accepted, 0)
  }
  return { records, counter, accept, accepted }
}

describe('statistics', () => {
  it('Counts are read once, whether they are stored or not', async () => {
    const { counter, accept, accepted } = reading()
    accept()
    expect(await accepted()).toBe(1)
    await counter.flush()
    expect(await accepted()).toBe(1)
    accept()
    expect(await accepted()).toBe(2)
  })

  it('Counts that are stored after the rows were read are read once', async () => {
    const { records, counter, accept, accepted } = reading()
    accept()
    const flushing: Pick<StatisticsRecords, 'list'> = {
      async list(query) {
        const page = await records.list(query)
        await counter.flush()
        return page
      },
    }
    expect([await accepted(flushing), await accepted()]).toEqual([1, 1])
  })

  it('Counts that were stored since the counter was asked are read once, with the later count', async () => {
    const { records, counter, accept, accepted } = reading()
    accept()
    const flushing: Pick<StatisticsRecords, 'list'> = {
      async list(query) {
        accept()
        await counter.flush()
        return records.list(query)
      },
    }
    expect(await accepted(flushing)).toBe(2)
  })
})
