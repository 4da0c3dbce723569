package androidx.annotation;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks what only the main thread may call. Compile-only: lint knows the name, nothing reads it at run time.
 */
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.METHOD})
public @interface MainThread {}
