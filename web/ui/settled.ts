/** A value that has stayed as it is for a while: so that not every letter is asked for. */
import { useEffect, useState } from 'react';

/** @param value the same from render to render until it changes */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(() => value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
