import { describe } from 'vitest'
import { mapDocuments } from './map-documents.ts'
import { tryDocuments } from './try-documents.ts'

describe('documentStore over a map with latency', () => {
  const maps = new Map<string, Map<string, string>>()
  tryDocuments((name) => {
    const texts = maps.get(name) ?? new Map<string, string>()
    maps.set(name, texts)
    return mapDocuments(Date, texts)
  })
})
