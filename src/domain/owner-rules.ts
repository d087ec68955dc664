/** Rules of a repository's settings that say who owns a test: they win over CODEOWNERS. */
import { z } from 'zod';
import { type PathText, pathPattern } from './codeowners-pattern.ts';
import { globMatcher } from './glob.ts';
import { NAME_LENGTH_MAX } from './limits.ts';
import { textProblem } from './text.ts';

const OWNER_RULES_MAX = 100;
/** Owners that one rule may name, and that one test may have; further ones are left out. */
export const OWNERS_MAX = 10;
/** All rules of a repository as JSON: each change of its settings writes them to the event log, as they were and are. */
const OWNER_RULES_BYTES_MAX = 64 * 1024;
/** In characters. */
const OWNER_GLOB_LENGTH_MAX = 255;

const text = (min: number, max: number) =>
  z.string().superRefine((value, context) => {
    const problem = textProblem(value, min, max);
    if (problem) context.addIssue({ code: 'custom', message: problem.reason, params: { type: problem.type } });
  });

const ownerText = text(1, NAME_LENGTH_MAX).refine((owner) => !/[\s,]/.test(owner), {
  error: 'must be one word, such as @acme/web or an e-mail address',
});

const ownerRuleSchema = z
  .strictObject({
    test_name: text(1, OWNER_GLOB_LENGTH_MAX)
      .optional()
      .meta({ description: 'Tests with these names; `*` and `?` are wildcards', example: 'Cart > *' }),
    file: text(1, OWNER_GLOB_LENGTH_MAX)
      .optional()
      .meta({ description: 'Tests in these files, as a pattern of CODEOWNERS of GitHub', example: '/src/cart/' }),
    owners: z
      .array(ownerText)
      .max(OWNERS_MAX, { error: `holds more than ${OWNERS_MAX} owners` })
      .meta({ description: 'Who owns them; empty: no one', example: ['@acme/cart'] }),
  })
  .refine(({ test_name, file }) => test_name !== undefined || file !== undefined, {
    error: 'needs test_name, file, or both',
  });

/** Without a name or a file, it means every one. */
export type OwnerRule = z.infer<typeof ownerRuleSchema>;

export const ownerRulesSchema = z
  .array(ownerRuleSchema)
  .max(OWNER_RULES_MAX, { error: `holds more than ${OWNER_RULES_MAX} rules` })
  .refine((rules) => Buffer.byteLength(JSON.stringify(rules)) <= OWNER_RULES_BYTES_MAX, {
    error: `is longer than ${OWNER_RULES_BYTES_MAX} bytes`,
  });

export interface CompiledOwnerRule {
  owners: readonly string[];
  matches(testName: string, file: PathText | undefined): boolean;
}

/** Rules that are ready to be asked about many tests. Of those that match a test, the last one counts. */
export const compileOwnerRules = (rules: readonly OwnerRule[]): readonly CompiledOwnerRule[] =>
  rules.map(({ test_name, file, owners }) => {
    const isNamed = test_name === undefined ? undefined : globMatcher(test_name);
    const pattern = file === undefined ? undefined : pathPattern(file, 'github');
    return {
      owners,
      matches: (testName, path) =>
        (isNamed?.(testName) ?? true) && (pattern === undefined || (path !== undefined && pattern.matches(path))),
    };
  });
