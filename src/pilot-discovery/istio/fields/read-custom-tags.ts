import type { CustomTag } from './custom-tag.ts';
import { isHeaderName } from './header-format.ts';
import { below, members, named, needed, type ReadMember, text, wrong } from './members.ts';

type NamelessTag = CustomTag extends infer T
  ? T extends CustomTag
    ? Omit<T, 'tag'>
    : never
  : never;

const literal: ReadMember<NamelessTag> = (value, place) =>
  members(value, place, [], (get) => ({ type: 'literal', value: get('value', needed) }));

const environment: ReadMember<NamelessTag> = (value, place) =>
  members(value, place, [], (get) => ({
    type: 'environment',
    name: get('name', needed),
    defaultValue: get('defaultValue', text),
  }));

/** Reads a tag from a header; `:path` is one too. */
const header: ReadMember<NamelessTag> = (value, place) =>
  members(value, place, [], (get) => {
    const name = get('name', needed);
    if (name !== '' && !isHeaderName(name.replace(/^:/, '')))
      wrong(below(place, 'name'), `'${name}' is not a valid name of a header`);
    return { type: 'header', name, defaultValue: get('defaultValue', text) };
  });

const kinds = { literal, environment, header };

const customTag: ReadMember<NamelessTag> = (value, place) =>
  members(value, place, [], (get, has) => {
    const given = (['literal', 'environment', 'header'] as const).filter(has);
    if (given.length !== 1) wrong(place, 'it needs exactly one of literal, environment, header');
    const [read = { type: 'literal' as const, value: '' }] = given.map((kind) =>
      get(kind, kinds[kind]),
    );
    return read;
  });

/** Reads the tags that users add to spans, sorted by their names. */
export const customTags: ReadMember<readonly CustomTag[]> = (value, place) =>
  Object.entries(named(customTag)(value, place))
    .map(([tag, read]): CustomTag => {
      if (tag === '') wrong(place, 'a tag has no name');
      return { tag, ...read };
    })
    .sort((a, b) => (a.tag < b.tag ? -1 : 1));
