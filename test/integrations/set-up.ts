import { afterEach, beforeEach } from 'vitest'
import { type Provider, startProvider, stopProviders } from './provider.ts'
import { type House, startHouse, stopHouses } from './test-app.ts'

/** The host of a test, and the provider that it asks. A file that imports them has new ones for each of its tests. */
export let house: House
export let provider: Provider

beforeEach(async () => {
  house = await startHouse()
  provider = await startProvider()
})

afterEach(async () => {
  await stopProviders()
  await stopHouses()
})
