import { expect, it } from 'vitest'
import { acceptance } from '../../../src/contract-tests/dispatch-store/samples.ts'
import type { SendLimit } from '../../../src/ports/delivery-policy.ts'
import { spentQuotas } from '../../../src/storage/engine/dispatches/counters.ts'

it('Spent quotas are distinguished by tenant, key, number and window', () => {
  const spent = spentQuotas()
  const under = (quota: SendLimit, tenant = 't1') => acceptance('1', { quotas: [quota], tenant })
  const quota = { key: 'k', max: 3, windowMs: 60_000 }
  spent.add(under(quota), 0)
  expect([spent.has(under(quota), 999), spent.has(under(quota), 1_000)]).toEqual([true, false])
  expect(spent.has(under(quota, 't2'), 0)).toBe(false)
  const others = [
    { ...quota, key: 'l' },
    { ...quota, max: 4 },
    { ...quota, windowMs: 3_600_000 },
  ]
  expect(others.map((other) => spent.has(under(other), 0))).toEqual([false, false, false])
})

it('A spent quota is remembered no longer than its window, and the shortest window of several counts', () => {
  const spent = spentQuotas()
  const windows = [500, 60_000, 200]
  const under = acceptance('1', { quotas: windows.map((windowMs) => ({ key: `k${windowMs}`, max: 3, windowMs })) })
  spent.add(under, 0)
  expect([spent.has(under, 199), spent.has(under, 200)]).toEqual([true, false])
})
