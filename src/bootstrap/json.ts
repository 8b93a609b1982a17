/** What JSON can say, and members that are left out. */
export type Json = string | number | boolean | null | undefined | readonly Json[] | { readonly [name: string]: Json };
