import ts from 'typescript'
import { nodesOf, readSources } from '../../architecture/source.ts'

/** A regular expression literal somewhere in `src/`. */
export interface Pattern {
  readonly place: string
  readonly regex: RegExp
}

/** All regular expression literals. */
export function literalPatterns(): readonly Pattern[] {
  return readSources().flatMap(({ path, ast }) =>
    nodesOf(ast).flatMap((node) =>
      ts.isRegularExpressionLiteral(node) ? [{ place: path, regex: regexOf(node.text) }] : [],
    ),
  )
}

function regexOf(literal: string): RegExp {
  const end = literal.lastIndexOf('/')
  return new RegExp(literal.slice(1, end), literal.slice(end + 1))
}

const PUMPS = [
  ...['a', 'A', '0', ' ', '\n', '.', '-', '/', '=', ',', ';', '"', '%', '&', ':', 'ä', '\ud800'],
  ...['a.', 'a-', 'aA0', '0.', ' ,', 'a/', 'xn--', '; ', '\r\n', 'Mon, 01 '],
]
const LEADS = ['', 'a', '1', '"', '%', ';return', 'https://', 'whsec_', '2026-01-01T00:00:00.', 'a@']
const TAILS = ['!', '\u0000']

/** Strings that make backtracking patterns backtrack: a repeated part with a different end. */
export function* backtrackers(length: number): Generator<string, void> {
  for (const lead of LEADS)
    for (const pump of PUMPS) for (const tail of TAILS) yield lead + pump.repeat(length / pump.length) + tail
}
