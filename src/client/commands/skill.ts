/** `ci-insights skill`: how an agent uses the service. The service has the same text at `/skill.md`. */
import { Command } from 'commander';
import skill from '../../skill.md' with { type: 'text' };
import { printExactly } from '../output.ts';

export const skillCommand = (): Command =>
  new Command('skill')
    .description('print how an agent uses ci-insights, to be loaded as a skill')
    .action(() => printExactly([skill.trimEnd()]));
