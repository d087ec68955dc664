/** Prompts that people choose in their agent: what to ask, in which order, and what not to conclude. */
import { z } from 'zod';
import { fence } from '../domain/told-text.ts';

const NAME_LENGTH_MAX = 10_000;
const repository = z.string().max(201).describe('owner/name');

interface Prompt<Shape extends Record<string, z.ZodType<string | undefined>>> {
  name: string;
  title: string;
  description: string;
  input: Shape;
  text(input: Record<string, string | undefined>): string;
}

const definePrompt = <Shape extends Record<string, z.ZodType<string | undefined>>>(prompt: Prompt<Shape>) => prompt;

const fixFlakyTest = definePrompt({
  name: 'fix_flaky_test',
  title: 'Fix this flaky test',
  description: 'Finds out why a test is flaky, repairs it, and says how its recovery is proven.',
  input: { repository, test: z.string().max(NAME_LENGTH_MAX).describe('The name or the test_id of the test.') },
  text: ({ repository: of = '', test = '' }) => `Repair the flaky test ${fence(test)} of the repository ${fence(of)}.

1. Ask get_test. Check that it is flaky at all: its reasons name executions of the same code that passed and failed. If it is broken, find the commit instead (since_commit).
2. Read in which legs it fails (fails_with) and with which messages (failure_groups). Ask find_causes with the cause_id of each group: other tests with the same cause point at shared code.
3. Read the test and the code under test. State the mechanism that explains these messages in these legs, such as order, time, shared state or a resource that runs out. If the evidence does not decide between two mechanisms, say so, and add what would.
4. Repair the mechanism. Do not add retries, sleeps or longer timeouts, do not skip the test, and do not loosen what it asserts.
5. Ask get_recovery, and report how many clean passes are still needed at the rate that was measured. One green run proves nothing about a rare flake.`,
});

const isItMyChange = definePrompt({
  name: 'is_it_my_change',
  title: 'Is it my change?',
  description: 'Says for each failure of a commit or pull request whether the change caused it, with evidence.',
  input: {
    repository,
    commit_or_pull_request: z.string().max(200).describe('A whole SHA, or the number of a pull request.'),
  },
  text: ({
    repository: of = '',
    commit_or_pull_request: which = '',
  }) => `Did the change ${fence(which)} of the repository ${fence(of)} cause its failures?

1. Ask what_failed for it, with base_commit and changed_files if you know them; follow next_cursor until every failure is listed.
2. For the verdict change: read the diff, and say which line can lead to this message. If none can, say that too: it is evidence, not proof.
3. For flaky: quote what shows it. Ask get_test, and compare message and leg with those of its known failures: a change may break a flaky test.
4. For broken and infrastructure: name the commit or the trouble that the evidence shows.
5. For unknown: say "not enough to say", and quote needs: which reruns would decide.
6. Answer with a table: test, whose fault, probability, evidence for, evidence against, what would decide. Quarantine nothing unless the person asks for it.`,
});

export const PROMPTS = [fixFlakyTest, isItMyChange];
