/** The longest time that a timer of Node can wait: it ends a longer one at once. In ms. */
export const longestTimer = 2 ** 31 - 1;
