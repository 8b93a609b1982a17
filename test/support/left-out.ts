import { controlPlane } from './control-plane.ts';

/** Says at the end of a run what it could not try. */
export default function leftOut(): () => void {
  return () => {
    if (controlPlane === undefined) process.stdout.write('\nLeft out: the tests with a real istiod, which is not to be had here.\n');
  };
}
