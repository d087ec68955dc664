/** Reads of the pages, as queries whose results are kept and shared, and what pages change. Types are those of the API's own schemas. */
export * from './causes.ts';
export * from './events.ts';
export * from './forgetting.ts';
export * from './operations.ts';
export * from './paths.ts';
export * from './prompts.ts';
export * from './quarantines.ts';
export * from './renames.ts';
export * from './repositories.ts';
export * from './runs.ts';
export * from './saved-views.ts';
export * from './session.ts';
export * from './tests.ts';
