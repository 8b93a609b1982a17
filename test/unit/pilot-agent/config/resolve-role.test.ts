import { describe, expect, it } from 'vitest';
import { resolveRole } from '../../../../src/pilot-agent/config/flag-layer.ts';

describe('resolveRole', () => {
  it.each<{ what: string; args: readonly string[]; role: string; unknown?: readonly string[] }>([
    { what: 'is sidecar without one', args: [], role: 'sidecar' },
    { what: 'is what is given', args: ['router'], role: 'router' },
    {
      what: 'is the first of several: extra ones are ignored',
      args: ['sidecar', 'router', 'x'],
      role: 'sidecar',
    },
    { what: 'is what is given even if it is none', args: ['ingress'], role: 'ingress' },
    { what: 'is case-sensitive', args: ['Router'], role: 'Router' },
    {
      what: 'follows an unknown flag with =',
      args: ['--foo=1', 'router'],
      role: 'router',
      unknown: ['--foo'],
    },
    {
      what: 'is before an unknown flag',
      args: ['router', '--foo'],
      role: 'router',
      unknown: ['--foo'],
    },
    {
      what: 'is before an unknown flag and its value',
      args: ['router', '--foo', 'bar'],
      role: 'router',
      unknown: ['--foo'],
    },
    {
      what: 'follows a bare unknown flag (the Go agent: sidecar)',
      args: ['--foo', 'router'],
      role: 'router',
      unknown: ['--foo'],
    },
    {
      what: 'follows a short unknown flag (the Go agent: sidecar)',
      args: ['-x', 'router'],
      role: 'router',
      unknown: ['-x'],
    },
    {
      what: 'follows an unknown flag and its value',
      args: ['--foo', 'bar', 'router'],
      role: 'router',
      unknown: ['--foo'],
    },
    {
      what: 'is not the value of an unknown flag',
      args: ['--foo', 'ingress'],
      role: 'sidecar',
      unknown: ['--foo'],
    },
    {
      what: 'is not the value of the second unknown flag',
      args: ['--foo', '--bar', 'baz', 'router'],
      role: 'router',
      unknown: ['--foo', '--bar'],
    },
    {
      what: 'is not a value behind an unknown flag with =',
      args: ['--foo=1', 'ingress'],
      role: 'ingress',
      unknown: ['--foo'],
    },
    {
      what: 'is told by name only, whatever the value',
      args: ['--token=a=b\nc', 'router'],
      role: 'router',
      unknown: ['--token'],
    },
  ])('$what', ({ args, role, unknown = [] }) => {
    expect(resolveRole(args)).toEqual({ role, unknownFlags: unknown });
  });
});
