package android.net;

import android.os.Parcelable;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.util.ArrayList;
import java.util.List;

/**
 * The part for hierarchical URIs: segments are decoded one by one, so that an encoded slash stays in its
 * segment.
 */
public class Uri implements Parcelable {
    private final String text;

    private Uri(String text) {
        this.text = text;
    }

    public static Uri parse(String text) {
        return new Uri(text);
    }

    public List<String> getPathSegments() {
        List<String> found = new ArrayList<String>();
        for (String segment : URI.create(text).getRawPath().split("/")) {
            if (!segment.isEmpty()) {
                try {
                    found.add(URLDecoder.decode(segment.replace("+", "%2B"), "UTF-8"));
                } catch (java.io.UnsupportedEncodingException never) {
                    throw new IllegalStateException(never);
                }
            }
        }
        return found;
    }

    @Override
    public String toString() {
        return text;
    }

    public static final class Builder {
        private String scheme;
        private String authority;
        private String path = "";

        public Builder scheme(String scheme) {
            this.scheme = scheme;
            return this;
        }

        public Builder authority(String authority) {
            this.authority = authority;
            return this;
        }

        public Builder appendPath(String segment) {
            path += "/" + segment;
            return this;
        }

        public Uri build() {
            try {
                return new Uri(new URI(scheme, authority, path, null, null).toString());
            } catch (URISyntaxException wrong) {
                throw new IllegalArgumentException(wrong);
            }
        }
    }
}
