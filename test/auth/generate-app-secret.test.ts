import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { isAppSecret } from '../../src/auth/app-secret.ts'
import { generateAppSecret } from '../../src/auth/index.ts'

describe('generateAppSecret', () => {
  it('generateAppSecret gives a secret of the environment, its digest and its id', async () => {
    const { id, secret, sha256 } = await generateAppSecret({ env: 'staging2' })
    expect(secret).toMatch(/^sp_staging2_[0-9A-Za-z]{36}$/)
    expect(isAppSecret(secret)).toBe(true)
    expect(sha256).toBe(createHash('sha256').update(secret).digest('hex'))
    expect(id).toBe(`app_${sha256.slice(0, 8)}`)
  })

  it('generateAppSecret uses the environment live by default', async () => {
    expect((await generateAppSecret()).secret).toMatch(/^sp_live_/)
    expect((await generateAppSecret({})).secret).toMatch(/^sp_live_/)
  })

  it('generateAppSecret never gives the same secret twice', async () => {
    const made = await Promise.all(Array.from({ length: 500 }, () => generateAppSecret()))
    expect(new Set(made.map(({ secret }) => secret)).size).toBe(500)
  })

  it.each(['', 'Live', 'li-ve', 'a'.repeat(17)])('generateAppSecret refuses the environment %j', async (env) => {
    await expect(generateAppSecret({ env })).rejects.toMatchObject({ code: 'option_invalid' })
  })
})
