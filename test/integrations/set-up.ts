import { afterEach, beforeEach } from 'vitest'
import { type Provider, startProvider, stopProviders } from './provider.ts'
import { startTestApp, stopTestApps, type TestApp } from './test-app.ts'

/** A host and a provider, new for each test of a file that calls {@link setUpEach}. */
export let app: TestApp
export let provider: Provider

export function setUpEach(): void {
  beforeEach(async () => {
    app = await startTestApp()
    provider = await startProvider()
  })

  afterEach(async () => {
    await stopProviders()
    await stopTestApps()
  })
}
