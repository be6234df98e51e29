import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { nodeEnv } from '../../src/runtime/node-env.ts'

function withProcess(value: unknown): string | undefined {
  vi.stubGlobal('process', value)
  onTestFinished(() => void vi.unstubAllGlobals())
  const found = nodeEnv()
  vi.unstubAllGlobals()
  return found
}

describe('NODE_ENV', () => {
  it('NODE_ENV is read from the process', () => {
    vi.stubEnv('NODE_ENV', 'staging')
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(nodeEnv()).toBe('staging')
  })

  it('NODE_ENV is undefined on a runtime without process, without env, or that does not permit to read it', () => {
    const denied = {
      get env(): never {
        throw new Error('NotCapable')
      },
    }
    expect([undefined, {}, { env: {} }, { env: { NODE_ENV: 7 } }, denied].map(withProcess)).toEqual(
      Array(5).fill(undefined),
    )
  })
})
