/** A part of a page in a card, named by its heading. */
import { type ReactNode, useId } from 'react';

interface SectionProps {
  title: string;
  /** Beside the heading. */
  aside?: ReactNode;
  children: ReactNode;
}

export function Section({ title, aside, children }: SectionProps) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="card min-w-0">
      <div className="flex items-baseline gap-2 border-b border-line px-4 py-2">
        <h2 id={id} className="font-semibold">
          {title}
        </h2>
        {aside !== undefined && <span className="text-soft">{aside}</span>}
      </div>
      {children}
    </section>
  );
}
