export { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts'
