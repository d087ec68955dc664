/** Puts test runs and events straight into the queue of ci-insights: docs/producers.md describes the jobs. */
export * from '../../../src/queue/package.ts';
