import { Buffer } from 'node:buffer'
import { describe, expect, it } from 'vitest'
import { lockedPackages, productionClosure } from '../labs/supply/lock-file.ts'
import { sbom } from '../labs/supply/sbom.ts'
import { readJson } from '../support/entries.ts'

const manifest = readJson('package.json')
const { dependencies } = manifest
const production = productionClosure(lockedPackages())
const expected = production.map(({ name, version, license, integrity = '' }) => ({
  name,
  version,
  licence: license,
  hash: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex'),
  purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
}))

describe('the bill of materials', () => {
  it('The CycloneDX bill lists exactly the production packages with version and licence', async () => {
    const { bomFormat, specVersion, metadata, components, dependencies: edges } = JSON.parse(await sbom('cyclonedx'))
    expect({ bomFormat, specVersion }).toEqual({ bomFormat: 'CycloneDX', specVersion: '1.5' })
    expect(metadata.component).toMatchObject({ name: 'sallyport', version: manifest.version })
    expect(sorted(components.map(fromCycloneDx))).toEqual(sorted(expected))
    const { dependsOn } = edges.find(({ ref }: { ref: string }) => ref === metadata.component['bom-ref'])
    const direct = production.filter(({ name }) => name in dependencies)
    expect(dependsOn.sort()).toEqual(direct.map(({ name, version }) => `${name}@${version}`).sort())
  })

  it('The SPDX bill lists the same packages', async () => {
    const { spdxVersion, packages } = JSON.parse(await sbom('spdx'))
    expect(spdxVersion).toBe('SPDX-2.3')
    const [own, ...others] = packages
    expect(own).toMatchObject({ name: 'sallyport', versionInfo: manifest.version, licenseDeclared: manifest.license })
    expect(sorted(others.map(fromSpdx))).toEqual(sorted(expected))
  })

  it('The bill of materials is reproducible except for its number and time', async () => {
    const [one, another] = await Promise.all([sbom('cyclonedx'), sbom('cyclonedx')])
    expect(withoutNumberAndTime(one)).toEqual(withoutNumberAndTime(another))
  })
})

function fromCycloneDx({ name, version, licenses, hashes, purl }: ReturnType<typeof JSON.parse>): unknown {
  const [{ alg, content }] = hashes
  expect(alg).toBe('SHA-512')
  return { name, version, licence: licenses[0].license?.id ?? licenses[0].expression, hash: content, purl }
}

function fromSpdx({
  name,
  versionInfo,
  licenseDeclared,
  checksums,
  externalRefs,
}: ReturnType<typeof JSON.parse>): unknown {
  const [{ algorithm, checksumValue: hash }] = checksums
  expect(algorithm).toBe('SHA512')
  return { name, version: versionInfo, licence: licenseDeclared, hash, purl: externalRefs[0].referenceLocator }
}

function withoutNumberAndTime(text: string): unknown {
  const { serialNumber, metadata, ...rest } = JSON.parse(text)
  const { timestamp, ...reported } = metadata
  expect(serialNumber).toMatch(/^urn:uuid:/)
  expect(Date.parse(timestamp)).not.toBeNaN()
  return { ...rest, metadata: reported }
}

const sorted = <T>(list: readonly T[]): string[] => list.map((one) => JSON.stringify(one)).sort()
