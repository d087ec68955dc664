/** Prompts for agents. */
import { queryOptions } from '@tanstack/react-query';
import type { PromptAnswer } from '../../src/insights/prompts.ts';
import { get, pathOf } from './client.ts';
import { keyOf } from './keys.ts';
import { insights, type RepositoryPath } from './paths.ts';

/** What prompts for agents are about. */
export type PromptSubject = { testId: string } | { causeId: string } | { commit: string; testId: string };

export const promptQuery = (path: RepositoryPath, subject: PromptSubject) =>
  queryOptions({
    queryKey: keyOf('prompt', path, subject),
    queryFn: ({ signal }) => get<PromptAnswer>(`${insights(path)}${promptPath(subject)}/prompt`, {}, signal),
    staleTime: 30_000,
  });

function promptPath(subject: PromptSubject): string {
  if ('causeId' in subject) return pathOf`/causes/${subject.causeId}`;
  if ('commit' in subject) return pathOf`/commits/${subject.commit}/failures/${subject.testId}`;
  return pathOf`/tests/${subject.testId}`;
}
