export { type FakeClock, fakeClock } from '../../src/contract-tests/fake-clock.ts'
