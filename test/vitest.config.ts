import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { aliases } from './support/aliases.ts'

const config: ViteUserConfig = defineConfig({
  resolve: { alias: aliases() },
  test: {
    include: ['test/**/*.test.ts'],
    typecheck: { enabled: true, include: ['test/**/*.test-d.ts'], tsconfig: 'tsconfig.json' },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    coverage: { include: ['src/**'] },
  },
})

export default config
