export type { ReadStatistics, StatisticsOptions } from './read-statistics.ts'
export { type StatisticsApi, statistics } from './statistics.ts'
