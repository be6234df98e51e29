import { describe, expect, it } from 'vitest'
import { loadPeer } from '../../src/runtime/load-peer.ts'

const ABOUT = { entry: 'sallyport/queue/bullmq', peer: 'bullmq', install: 'bullmq ioredis' }
const NOT_FOUND = Object.assign(new Error("Cannot find module 'bullmq'"), { code: 'MODULE_NOT_FOUND' })

const fail = (error: Error) => (): never => {
  throw error
}

describe('loadPeer', () => {
  it('loadPeer() returns an installed peer', () => {
    const peer = { Queue: class {} }
    expect(loadPeer(ABOUT, () => peer, fail(NOT_FOUND))).toBe(peer)
  })

  it('loadPeer() throws peer_missing with the install command for a missing peer', () => {
    expect(() => loadPeer(ABOUT, fail(NOT_FOUND), fail(NOT_FOUND))).toThrow(
      expect.objectContaining({
        code: 'peer_missing',
        message: 'sallyport/queue/bullmq needs bullmq, which is not installed: npm install bullmq ioredis',
        cause: NOT_FOUND,
      }),
    )
  })

  it('loadPeer() throws the error of an installed peer that lacks a package of its own', () => {
    const broken = Object.assign(new Error("Cannot find module 'tslib'"), { code: 'MODULE_NOT_FOUND' })
    expect(() => loadPeer(ABOUT, fail(broken), () => '/node_modules/bullmq')).toThrow(broken)
  })
})
