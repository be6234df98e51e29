import { afterEach, beforeEach } from 'vitest'
import { type Provider, startProvider, stopProviders } from './provider.ts'
import { startTestApp, stopTestApps, type TestApp } from './test-app.ts'

/** The host of a test, and the provider that it asks. A file that imports them has new ones for each of its tests. */
export let app: TestApp
export let provider: Provider

beforeEach(async () => {
  app = await startTestApp()
  provider = await startProvider()
})

afterEach(async () => {
  await stopProviders()
  await stopTestApps()
})
