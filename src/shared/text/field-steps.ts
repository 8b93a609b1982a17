/** The steps of a field as `spec.http[0].route`: `spec`, `http`, `[0]`, `route`. Pure. */
export function stepsOf(field: string): readonly string[] {
  return field.split(/\.|(?=\[)/);
}
