import type { Amounts, Money, Unpriced } from '../model/session.ts'
import { type SchemaOf, s } from './model-schema.ts'

export const money: SchemaOf<Money> = s.object<Money>('Money', undefined, {
  amount: s.text('An exact decimal.'),
  currency: s.text('ISO 4217.'),
})

export const unpriced: SchemaOf<Unpriced> = s.object<Unpriced>('Unpriced', 'Usage without a known price.', {
  runs: s.whole(0),
  tokens: s.whole(0),
})

export const amounts: SchemaOf<Amounts> = s.object<Amounts>(
  'Amounts',
  'Tokens and their cost. In statistics they are below 0 after corrections.',
  {
    tokens: s.whole(-Number.MAX_SAFE_INTEGER, 'Input plus output. The sum stops at 2^53 - 1, and at its negative.'),
    cost: s.list(money, 'By currency.'),
    inexact: s.optional(s.always(true, 'The sum of tokens stopped.')),
  },
)
