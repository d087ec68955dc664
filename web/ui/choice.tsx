/** One of several values, by the platform's own list. */

interface ChoiceProps<T extends string> {
  label: string;
  /** Undefined: the first option. */
  value: T | undefined;
  /** Values with what they are called; undefined stands for no value. */
  options: readonly (readonly [value: T | undefined, label: string])[];
  onChoose: (value: T | undefined) => void;
}

export function Choice<T extends string>({ label, value, options, onChoose }: ChoiceProps<T>) {
  return (
    <select
      aria-label={label}
      // One width, whatever its options are and whenever they come.
      className="field w-44 max-sm:w-[calc(50%-0.25rem)]"
      value={value ?? ''}
      onChange={(event) => onChoose(options.find(([one]) => (one ?? '') === event.target.value)?.[0])}
    >
      {options.map(([one, name]) => (
        <option key={one ?? ''} value={one ?? ''}>
          {name}
        </option>
      ))}
    </select>
  );
}
