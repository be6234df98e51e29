import { describe, expect, it, test } from 'vitest'
import { fc, runs } from '../support/properties.ts'
import { render, text } from './compile.ts'
import { type Decimal, type Operator, shopify } from './liquid-numbers-oracle.ts'

describe('the numbers of templates', () => {
  it.each([
    ['4.99 | times: 5', '24.95'],
    ['0.0725 | times: 100', '7.25'],
    ['9.95 | times: 100', '995.0'],
    ['0.1 | plus: 0.2', '0.3'],
    ['1.0 | minus: 0.9', '0.1'],
    ['10.1 | modulo: 7.0', '3.1'],
    ['1.005 | round: 2', '1.01'],
    ['19.99 | times: 3 | plus: 4.95 | round: 2', '64.92'],
    ['2.675 | times: 100 | round', '268'],
  ])('Decimals are exact: %s gives %s', async (expression, result) => {
    expect(await text(`{{ ${expression} }}`)).toBe(result)
    expect(await text(`{% assign x = ${expression} %}{{ x }}`, {}, 'html')).toBe(result)
  })

  it.each([
    ['9 | divided_by: 2', '4'],
    ['-9 | divided_by: 2', '-5'],
    ['9 | divided_by: -2', '-5'],
    ['9 | divided_by: 2.0', '4.5'],
    ['10 | divided_by: 2.0', '5.0'],
    ['9.0 | divided_by: 2', '4.5'],
    ['20 | divided_by: 7.0', '2.857142857142857'],
    ['1 | divided_by: -3.0', '-0.3333333333333333'],
    ['-7 | modulo: 3', '2'],
    ['-7.5 | modulo: 2', '0.5'],
    ['7.5 | modulo: -2', '-0.5'],
    ['0 | divided_by: 1.1', '0.0'],
    ['-0.0 | times: 5', '0.0'],
  ])('Integers divide as integers, decimals as decimals: %s gives %s', async (expression, result) => {
    expect(await text(`{{ ${expression} }}`)).toBe(result)
  })

  it.each([
    ['2.5 | round', '3'],
    ['-2.5 | round', '-3'],
    ['2.4 | round', '2'],
    ['5 | round: 2', '5'],
    ['5.0 | round: 2', '5.0'],
    ['12345 | round: -2', '12300'],
    ['-12350 | round: -2', '-12400'],
    ['5.666 | round: 1.9', '5.7'],
    ['1.25 | round: 1', '1.3'],
    ['1.25 | round: 99', '1.25'],
    ['1.25 | round: -99', '0'],
    ['5.2 | ceil', '6'],
    ['-5.2 | ceil', '-5'],
    ['5.0 | ceil', '5'],
    ['5.8 | floor', '5'],
    ['-5.2 | floor', '-6'],
    ['-5.0 | abs', '5.0'],
    ['5 | at_least: 7.0', '7.0'],
    ['5 | at_most: 7.0', '5'],
  ])('Rounding is half away from zero: %s gives %s', async (expression, result) => {
    expect(await text(`{{ ${expression} }}`)).toBe(result)
  })

  it.each<[unknown, string]>([
    ['1.10', '1.1'],
    [' 4.0 ', '4.0'],
    ['007', '7'],
    ['+5', '5'],
    ['-5 apples', '-5'],
    ['5.5 apples', '5'],
    ['1e3', '1'],
    ['.5', '0'],
    ['0x10', '0'],
    ['apples', '0'],
    ['', '0'],
    [null, '0'],
    [true, '0'],
    [[1], '0'],
    [{ a: 1 }, '0'],
    ['9'.repeat(65), '0'],
    [0.1, '0.1'],
    [5, '5'],
    [-0, '0'],
  ])('%j counts as %s', async (x, result) => {
    expect(await text('{{ data.x | plus: 0 }}', { x })).toBe(result)
  })

  it('A whole decimal is shown with its point, compares as a number and can be counted on', async () => {
    const source = '{% assign x = 9.95 | times: 100 %}'
    expect(await text(`${source}{{ x }} {{ x | plus: 5 }} {{ x | append: "!" }} {{ 5.0 }}`)).toBe(
      '995.0 1000.0 995.0! 5.0',
    )
    expect(
      await text(
        `${source}{% if x == 995 and x > 994 and x < 996 %}a{% endif %}{% case x %}{% when 995 %}b{% endcase %}`,
      ),
    ).toBe('ab')
    expect(await text('{% for i in (1..3) %}{{ i | times: 1.5 }} {% endfor %}')).toBe('1.5 3.0 4.5 ')
    expect(
      await text('{{ data.list[1.0] }}{% for i in data.list limit: 2.0 %}{{ i }}{% endfor %}', { list: [7, 8, 9] }),
    ).toBe('878')
  })

  it('An integer beyond 2^53 is exact up to 40 digits', async () => {
    expect(await text('{{ 9007199254740991 | plus: 2 }}')).toBe('9007199254740993')
    expect(await text('{{ 9007199254740991 | times: 9007199254740991 | minus: 1 }}')).toBe(
      '81129638414606663681390495662080',
    )
    const [x, y] = ['9'.repeat(20), '9'.repeat(21)]
    expect(await text('{{ data.x | times: data.x }}', { x })).toBe('9999999999999999999800000000000000000001')
    expect(await text('{{ data.y | times: data.y }}', { y })).toBe('1e+42')
  })

  it('Huge and tiny numbers are those of JavaScript', async () => {
    const data = { huge: 1e300, tiny: 1e-300 }
    expect(await text('{{ data.huge | times: 10 }} {{ data.tiny | divided_by: 10 }}', data)).toBe('1e+301 1e-301')
    expect(await text('{{ data.tiny | plus: 1 }} {{ data.tiny | round: 2 }} {{ data.tiny | ceil }}', data)).toBe(
      '1.0 0.0 1',
    )
    expect(await text('{{ data.huge | round }} {{ data.huge | modulo: 7.5 }}', data)).toMatch(/^1e\+300 /)
    expect(await render('{{ data.huge | times: data.huge }}', data)).toMatchObject({ outcome: 'error' })
  })

  it('A sum is exact', async () => {
    const items = [{ price: 0.1 }, { price: '0.20' }, { price: 0.4 }, {}, { price: 'free' }]
    expect(await text('{{ data.items | sum: "price" }} {{ data.n | sum }}', { items, n: [0.5, 0.5] })).toBe('0.7 1.0')
  })

  it('divided_by takes one number', async () => {
    await expect(render('{{ 5 | divided_by: 2, true }}')).rejects.toThrow('takes 1 argument, not 2')
  })
})

/** At most 15 digits, which a number of JavaScript holds exactly. */
const decimal = fc
  .tuple(fc.oneof(fc.integer({ min: -1_000, max: 1_000 }), fc.integer({ min: -(10 ** 14), max: 10 ** 14 })), fc.nat(8))
  .map(([units, places]): Decimal => ({ units: BigInt(units), places }))

const OPERATORS: readonly Operator[] = ['plus', 'minus', 'times', 'divided_by', 'modulo']

/** Ways to give a number to a filter. */
const given = fc.constantFrom('literal', 'number', 'text')
const operand = fc.tuple(decimal, given)

function written({ units, places }: Decimal): string {
  const digits = String(units < 0n ? -units : units).padStart(places + 1, '0')
  const [whole, fraction] = [digits.slice(0, digits.length - places), digits.slice(digits.length - places)]
  return `${units < 0n ? '-' : ''}${whole}${places === 0 ? '' : `.${fraction}`}`
}

/** A number of JSON has no places that it does not need: 5.0 is the integer 5. */
function asGiven(number: Decimal, how: string): Decimal {
  if (how !== 'number') return number
  let { units, places } = number
  while (places > 0 && units % 10n === 0n) [units, places] = [units / 10n, places - 1]
  return { units, places }
}

describe('the filters of numbers, compared with fractions of integers', () => {
  test.each(OPERATORS)('%s gives the number that is nearest to the exact result', async (operator) => {
    await fc.assert(
      fc.asyncProperty(operand, operand, async ([left, howLeft], [right, howRight]) => {
        if (right.units === 0n && (operator === 'divided_by' || operator === 'modulo')) return
        const texts = { x: written(left), y: written(right) }
        const data = Object.fromEntries(
          (['x', 'y'] as const).map((name) => [
            name,
            (name === 'x' ? howLeft : howRight) === 'number' ? Number(texts[name]) : texts[name],
          ]),
        )
        const source = (name: 'x' | 'y', how: string): string => (how === 'literal' ? texts[name] : `data.${name}`)
        const rendered = await text(`{{ ${source('x', howLeft)} | ${operator}: ${source('y', howRight)} }}`, data)
        expect(rendered).toBe(shopify(operator, asGiven(left, howLeft), asGiven(right, howRight)))
      }),
      { numRuns: runs(2_000) },
    )
  })

  test('round gives the nearest number of that many places', async () => {
    await fc.assert(
      fc.asyncProperty(decimal, fc.integer({ min: -3, max: 9 }), async (number, places) => {
        expect(await text(`{{ ${written(number)} | round: ${places} }}`)).toBe(
          shopify('round', number, { units: BigInt(places), places: 0 }),
        )
      }),
      { numRuns: runs(2_000) },
    )
  })
})
