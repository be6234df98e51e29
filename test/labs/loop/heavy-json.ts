/** JSON texts of about this many bytes that are expensive to parse; none is accepted by mistake. */
export const HEAVY_JSON: Readonly<Record<string, (bytes: number) => string>> = {
  deepest: (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  'deepest objects': (bytes) => `${'{"a":'.repeat(bytes / 6)}1${'}'.repeat(bytes / 6)}`,
  'maximum depth': (bytes) => list(bytes, () => '['.repeat(26) + ']'.repeat(26)),
  widest: (bytes) => list(bytes, () => '0'),
  'empty lists': (bytes) => list(bytes, () => '[]'),
  'small objects': (bytes) => list(bytes, () => '{"a":1}'),
  'objects of many shapes': (bytes) => list(bytes, (index) => `{"k${index}":1}`),
  'most keys': (bytes) => object(bytes, (index) => index.toString(36)),
  'keys that are indices': (bytes) => object(bytes, (index) => String((index * 65_536) % 4_294_967_291)),
  'keys that collide as indices': (bytes) => object(bytes, (index) => String(index * 16_384)),
  'one key again and again': (bytes) => object(bytes, () => 'k'),
  'one long key': (bytes) => `{"${'k'.repeat(bytes)}":1}`,
  'most escapes': (bytes) => `"${'\\u0041'.repeat(bytes / 6)}"`,
  'escaped surrogates': (bytes) => `"${'\\ud83d\\ude00'.repeat(bytes / 12)}"`,
  'lone surrogates': (bytes) => list(bytes, () => '"\\ud83d"'),
  'whole surrogates': (bytes) => `"${'😀'.repeat(bytes / 4)}"`,
  'one long number': (bytes) => '1'.repeat(bytes),
  'one long fraction': (bytes) => `0.${'1'.repeat(bytes)}`,
  'hard fractions': (bytes) => list(bytes, (index) => `${index}.${'7'.repeat(700)}e-300`),
  'numbers out of range': (bytes) => list(bytes, () => '1e999'),
  'one long string': (bytes) => `"${'a'.repeat(bytes)}"`,
  'forbidden keys': (bytes) => list(bytes, () => '{"__proto__":1}'),
}

function list(bytes: number, item: (index: number) => string): string {
  return `[${fill(bytes, item).join()}]`
}

function object(bytes: number, key: (index: number) => string): string {
  return `{${fill(bytes, (index) => `"${key(index)}":0`).join()}}`
}

function fill(bytes: number, part: (index: number) => string): readonly string[] {
  const parts: string[] = []
  for (let left = bytes; left > 0; left -= (parts.at(-1) ?? '').length + 1) parts.push(part(parts.length))
  return parts
}
