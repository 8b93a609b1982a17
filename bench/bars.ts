export interface Bars {
  readonly title: string;
  readonly unit: string;
  readonly digits: number;
  readonly better: 'less' | 'more';
  readonly values: readonly (readonly [who: string, value: number])[];
}

const [width, left, right, height] = [640, 130, 90, 22];

/** Bars, one below the other, as SVG: legible on white and on black. Pure. */
export function bars({ title, unit, digits, better, values }: Bars): string {
  const most = Math.max(...values.map(([, value]) => value), Number.MIN_VALUE);
  const lines = values.map(([who, value], index) => {
    const y = 30 + index * height;
    const length = Math.max(1, (Math.max(value, 0) / most) * (width - left - right));
    const kind = /^Node |^Executable$/.test(who) ? 'own' : who.startsWith('Go') ? 'go' : 'floor';
    return `<text x="${left - 8}" y="${y + 12}" text-anchor="end">${escaped(who)}</text><rect class="${kind}" x="${left}" y="${y}" width="${length.toFixed(1)}" height="16" rx="2"/><text x="${(left + length + 6).toFixed(1)}" y="${y + 12}">${value.toFixed(digits)}${unit.startsWith('/') ? '' : ' '}${escaped(unit)}</text>`;
  });
  const full = 36 + values.length * height;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${full}" width="${width}" height="${full}" role="img" aria-label="${escaped(title)}">
<style>text{font:12px system-ui,sans-serif;fill:#24292f}.own{fill:#2f81f7}.go{fill:#8b949e}.floor{fill:#bf8700}@media(prefers-color-scheme:dark){text{fill:#e6edf3}}</style>
<text x="0" y="16" font-weight="bold">${escaped(title)} (${better} is better)</text>
${lines.join('\n')}
</svg>
`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    .replaceAll('`', '');
}
