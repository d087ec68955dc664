/** The command that runs a test alone, with a button that copies it. */
import { Copy } from './copy.tsx';

export const Reproduce = ({ command }: { command: string }) => (
  <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1 text-xs text-soft">
    <span>Reproduce</span>
    <code className="min-w-0 rounded-md bg-raised px-1.5 py-0.5 font-mono break-all text-ink">{command}</code>
    <Copy text={command} />
  </div>
);
