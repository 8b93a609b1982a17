/**
 * Splits a field such as `spec.http[0].route` into its steps: `spec`, `http`, `[0]`, `route`. Pure.
 */
export function stepsOf(field: string): readonly string[] {
  return field.split(/\.|(?=\[)/);
}
