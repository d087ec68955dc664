/** A control of a form with its name above it. */
import type { ReactNode } from 'react';

interface FieldProps {
  label: string;
  /** Explains the value, below it. */
  hint?: string;
  children: ReactNode;
}

export const Field = ({ label, hint, children }: FieldProps) => (
  <div className="flex min-w-0 flex-col gap-1">
    {/* biome-ignore lint/a11y/noLabelWithoutControl: the control is what it is given */}
    <label className="flex min-w-0 flex-col gap-1 [&>select]:min-w-44">
      <span className="text-xs text-soft">{label}</span>
      {children}
    </label>
    {hint !== undefined && <p className="text-xs text-soft">{hint}</p>}
  </div>
);
