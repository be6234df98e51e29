import { existsSync, mkdtempSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, test } from 'vitest'
import { tryJsonFile } from '../../../docs/examples/documents-contract.ts'
import { jsonFileDocuments } from '../../../docs/examples/documents-json-file.ts'

// Every commit is flushed to disk; a memory file system is several times faster.
const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'sallyport-documents-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('documentStore over the JSON file of the guide', () => tryJsonFile(test, folder))

describe('jsonFile', () => {
  it('jsonFile refuses a damaged file and leaves it unchanged', async () => {
    const path = join(folder, 'damaged')
    await writeFile(path, '{"a":')
    await expect(jsonFileDocuments(path)).rejects.toThrow(SyntaxError)
  })

  it('A write that fails throws, changes nothing, and the next one succeeds', async () => {
    const documents = await jsonFileDocuments(join(folder, 'gone', 'file'))
    const change = { key: 'a', before: undefined, after: '1' }
    await expect(documents.commit([change])).rejects.toThrow('ENOENT')
    expect(await documents.get('a')).toBeUndefined()
    await expect(documents.commit([{ ...change, after: undefined }])).resolves.toBe(true)
  })
})
