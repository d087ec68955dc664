/** A row that unfolds. What it hides is made when it is opened first, so that a hundred rows cost what one sees of them. */
import { type ReactNode, useState } from 'react';
import { HintReach } from './hint.tsx';

interface UnfoldingProps {
  summary: ReactNode;
  /** The classes that lay out the summary. */
  grid: string;
  className?: string;
  children: () => ReactNode;
}

export function Unfolding({ summary, grid, className, children }: UnfoldingProps) {
  const [wasOpened, setWasOpened] = useState(false);
  return (
    <details className={className} onToggle={() => setWasOpened(true)}>
      <summary className={`${grid} px-4 py-2 hover:bg-raised`}>
        <HintReach value={undefined}>{summary}</HintReach>
      </summary>
      {wasOpened && children()}
    </details>
  );
}
