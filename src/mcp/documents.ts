/** Documents for agents, as resources of the MCP server. */
import skill from '../skill.md' with { type: 'text' };
import words from './words.md' with { type: 'text' };

export const DOCUMENTS = [
  { name: 'skill', title: 'How an agent uses ci-insights', uri: 'ci-insights://skill', text: skill },
  { name: 'words', title: 'Words in the answers', uri: 'ci-insights://words', text: words },
] as const;
