package android.os;

/** Messages never leave the process; only the signatures are needed. */
public interface Parcelable {
    int describeContents();
    void writeToParcel(Parcel out, int flags);

    interface Creator<T> {
        T createFromParcel(Parcel in);
        T[] newArray(int size);
    }
}
